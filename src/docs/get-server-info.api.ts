import { applyDecorators } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { ApiAnswer } from '../platform/http/api-answer.decorator.js';
import { ApiProblemsToAnybody } from '../platform/http/api-problems.decorator.js';
import { ServerInfoDto } from './docs.dto.js';

export function GetServerInfoApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'getServerInfo', description: 'A place to begin, also while the server is starting.' }),
    ApiAnswer(200, 'What this is.', { type: ServerInfoDto }),
    ApiProblemsToAnybody(),
  );
}
