import { Controller, Headers, HttpCode, Param, Put, Query, Res } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { OUTPUT } from '../domain/contract/names.js';
import { MayCall, OwnNode } from '../platform/access/may-call.decorator.js';
import { stepSeq } from '../platform/http/path-parameters.js';
import { Problem } from '../platform/http/problem.js';
import { RawBody, type RawBodyOf } from '../platform/http/raw-body.js';
import { LogQueryDto, UploadQueryDto } from './bodies.dto.js';
import { UploadOutput } from './upload-output.js';
import { AppendLogApi, UploadOutputApi } from './uploads.api.js';
import { WriteLog } from './write-log.js';

@ApiTags('steps')
@Controller('v1/runs/:run_id/steps/:seq')
export class UploadsController {
  constructor(
    private readonly outputs: UploadOutput,
    private readonly logs: WriteLog,
  ) {}

  /** A node uploads an output of its step. */
  @Put('blobs/:name')
  @MayCall('node', 'operator')
  @HttpCode(204)
  @RouteConfig({ rawBody: true })
  @UploadOutputApi()
  async uploadOutput(
    @Param() { run_id, seq, name }: Record<'run_id' | 'seq' | 'name', string>,
    @Query() { attempt }: UploadQueryDto,
    @Headers('mediator-lease') nonce: string | undefined,
    @OwnNode() speaker: string | undefined,
    @RawBody() body: RawBodyOf,
  ): Promise<void> {
    if (!OUTPUT.accepts(name)) throw new Problem('invalid_request', OUTPUT.says);
    await this.outputs.upload({ run_id, seq: stepSeq(seq), name, attempt, nonce: leaseOf(nonce), speaker }, body);
  }

  /** A node adds to a log of its step. */
  @Put('log')
  @MayCall('node', 'operator')
  @HttpCode(204)
  @RouteConfig({ rawBody: true })
  @AppendLogApi()
  async appendLog(
    @Param() { run_id, seq }: Record<'run_id' | 'seq', string>,
    @Query() { name, attempt, offset }: LogQueryDto,
    @Headers('mediator-lease') nonce: string | undefined,
    @OwnNode() speaker: string | undefined,
    @RawBody() body: RawBodyOf,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    const log = { run_id, seq: stepSeq(seq), name, attempt, nonce: leaseOf(nonce), speaker };
    void reply.header('upload-offset', await this.logs.write(log, offset, body));
  }
}

function leaseOf(nonce: string | undefined): string {
  if (nonce) return nonce;
  throw new Problem('invalid_request', 'the header Mediator-Lease must carry the nonce of the lease');
}
