import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import { type ProblemCode, PROBLEMS } from '../domain/problem-codes.js';
import { AnybodyMayCall } from '../platform/access/may-call.decorator.js';
import { Problem } from '../platform/http/problem.js';
import { ExplainProblemApi, GetServerInfoApi } from './docs.api.js';
import { ServerInfoDto, ProblemPageDto } from './docs.dto.js';
import { problemPage } from './problem-page.js';
import { VERSION } from './version.js';

/** The texts change with the version of the server and with nothing else. */
const AN_HOUR = 'public, max-age=3600';

@ApiTags('operation')
@Controller()
export class DocsController {
  /** What this is and where it is described. */
  @Get()
  @AnybodyMayCall()
  @GetServerInfoApi()
  serverInfo(): ServerInfoDto {
    return { name: 'mediator', version: VERSION, docs: '/docs', openapi: '/openapi.json' };
  }

  /** What a problem's code means, to the caller and to the operator. */
  @Get('problems/:code')
  @AnybodyMayCall()
  @ExplainProblemApi()
  problem(
    @Param('code') code: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): ProblemPageDto | string {
    void reply.header('vary', 'Accept');
    if (!Object.hasOwn(PROBLEMS, code)) {
      throw new Problem('not_found', `there is no problem ${code}; there are ${Object.keys(PROBLEMS).join(', ')}`);
    }
    void reply.header('cache-control', AN_HOUR);
    if (new Negotiator(request.raw).mediaType(['application/json', 'text/html']) === 'text/html') {
      void reply.type('text/html; charset=utf-8');
      return problemPage(code as ProblemCode);
    }
    return { code, ...PROBLEMS[code as ProblemCode] };
  }
}
