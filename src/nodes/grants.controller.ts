import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { MayCall } from '../platform/access/may-call.decorator.js';
import { nextLink } from '../platform/http/cursor.js';
import { ListGrantsApi } from './grants.api.js';
import { GrantListDto, GrantsQueryDto } from './grants.dto.js';
import { ShowGrants } from './show-grants.js';

@ApiTags('nodes')
@Controller('v1/grants')
export class GrantsController {
  constructor(private readonly show: ShowGrants) {}

  /** Who held what when, the newest first. */
  @Get()
  @MayCall('submitter', 'operator')
  @ListGrantsApi()
  async list(
    @Query() query: GrantsQueryDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<GrantListDto> {
    const page = await this.show.page(query);
    if (page.next) void reply.header('link', nextLink(request.url, page.next));
    return page;
  }
}
