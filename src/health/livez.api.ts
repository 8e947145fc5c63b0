import { applyDecorators } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { ApiAnswer } from '../platform/http/api-answer.decorator.js';
import { ApiProblemsToAnybody } from '../platform/http/api-problems.decorator.js';
import { LivenessDto } from './health.dto.js';

export function LivezApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'livez',
      description: 'For a supervisor that restarts what hangs. It knows nothing of the database. Safe to repeat.',
    }),
    ApiAnswer(200, 'The process turns.', { type: LivenessDto }),
    ApiProblemsToAnybody(),
  );
}
