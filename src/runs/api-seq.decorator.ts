import { ApiParam } from '@nestjs/swagger';

/** The path parameter `seq`. */
export function ApiSeq(): MethodDecorator {
  return ApiParam({
    name: 'seq',
    description: 'The step, by its place in the contract, from 1.',
    schema: { type: 'integer', minimum: 1, maximum: 999_999_999 },
  });
}
