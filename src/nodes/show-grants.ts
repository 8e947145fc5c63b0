import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { fromCursor, toCursor } from '../platform/http/cursor.js';
import type { GrantDto, GrantListDto, GrantsQueryDto } from './grants.dto.js';
import { type GrantRow, readGrantPage } from './grants.sql.js';

/** Who held what when. */
@Injectable()
export class ShowGrants {
  constructor(private readonly database: Database) {}

  /** Throws invalid_request where this server did not make the cursor. */
  async page({ limit, cursor, ...filter }: GrantsQueryDto): Promise<GrantListDto> {
    const rows = await this.database.ask(readGrantPage(filter, limit, fromCursor(cursor)));
    const items = rows.slice(0, limit);
    return { items: items.map(shown), next: rows.length > limit ? toCursor(items.at(-1)!.place) : null };
  }
}

function shown({ place: _place, granted_at, released_at, why, ...grant }: GrantRow): GrantDto {
  return { ...grant, granted_at: granted_at.toISOString(), released_at: released_at?.toISOString() ?? null, why };
}
