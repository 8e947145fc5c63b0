import { ApiParam } from '@nestjs/swagger';

/** The path parameter `run_id`. */
export function ApiRunId(): MethodDecorator {
  return ApiParam({
    name: 'run_id',
    description: 'The run, by the id that its contract gave it or the server made.',
    schema: { type: 'string', minLength: 1, maxLength: 200 },
  });
}
