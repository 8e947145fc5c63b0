import { Controller, Get, Param } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { type ProblemCode, PROBLEMS } from '../domain/problem-codes.js';
import { AnybodyMayCall } from '../platform/access/may-call.decorator.js';
import { Problem } from '../platform/http/problem.js';
import { IndexDto, ProblemPageDto } from './docs.dto.js';
import { ExplainProblemApi } from './explain-problem.api.js';
import { IndexApi } from './index.api.js';
import { VERSION } from './version.js';

@ApiTags('operation')
@Controller()
export class DocsController {
  /** What this is and where it is described. */
  @Get()
  @AnybodyMayCall()
  @IndexApi()
  index(): IndexDto {
    return { name: 'mediator', version: VERSION, docs: '/docs', openapi: '/openapi.json' };
  }

  /** What a problem's code means, to the caller and to the operator. */
  @Get('problems/:code')
  @AnybodyMayCall()
  @ExplainProblemApi()
  problem(@Param('code') code: string): ProblemPageDto {
    if (!Object.hasOwn(PROBLEMS, code)) {
      throw new Problem('not_found', `there is no problem ${code}; there are ${Object.keys(PROBLEMS).join(', ')}`);
    }
    return { code, ...PROBLEMS[code as ProblemCode] };
  }
}
