import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { MayCall } from '../platform/access/may-call.decorator.js';
import { fromCursor, toCursor, nextLink } from '../platform/http/cursor.js';
import { PageQueryDto } from '../platform/http/page.dto.js';
import { GetQueueApi } from './queue.api.js';
import { ShowQueue } from './show-queue.js';
import { QueueDto } from './waiting.dto.js';

@ApiTags('queue')
@Controller('v1/queue')
export class QueueController {
  constructor(private readonly showQueue: ShowQueue) {}

  /** The queued runs in arrival order, each with the reason why it waits. */
  @Get()
  @MayCall('submitter', 'operator')
  @GetQueueApi()
  async list(
    @Query() page: PageQueryDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<QueueDto> {
    const { next, ...shown } = await this.showQueue.page(page.limit, fromCursor(page.cursor));
    const cursor = next ? toCursor(next) : null;
    if (cursor) void reply.header('link', nextLink(request.url, cursor));
    return { ...shown, next: cursor };
  }
}
