import { Injectable } from '@nestjs/common';
import type { Contract } from '../domain/contract/contract.js';
import type { AssignedRole } from '../domain/matching/fleet.js';
import { match, tooWide } from '../domain/matching/match.js';
import { FleetView } from '../fleet/fleet-view.js';
import { Config } from '../platform/config/config.js';
import { Problem } from '../platform/http/problem.js';
import { describeWidth } from './describe-width.js';

const NOBODY: ReadonlySet<string> = new Set();

/** What a submission would be matched with if every node were free: what exists, the silent nodes after the live ones, never what is free. Stores nothing. */
@Injectable()
export class DryRun {
  constructor(
    private readonly fleet: FleetView,
    private readonly config: Config,
  ) {}

  async assign({ requires, spread = false }: Contract): Promise<AssignedRole[]> {
    const cap = this.config.maxLeasesPerRun;
    const { existing } = await this.fleet.refresh();
    const found = match(requires, spread, existing().fleet, NOBODY, { cap });
    if (found.kind !== 'matched') throw new Problem('unsatisfiable', found.detail);
    if (tooWide(found.nodes.length, cap)) {
      throw new Problem('too_wide', describeWidth(found.nodes.length, cap));
    }
    return found.assigned;
  }
}
