import { ApiHeader } from '@nestjs/swagger';

/** The header by which a node shows that the step is its own. */
export function ApiLease(): MethodDecorator & ClassDecorator {
  return ApiHeader({
    name: 'Mediator-Lease',
    required: true,
    description: 'The nonce of the lease that came with the claim: it keeps an old holder out.',
    schema: { type: 'string', minLength: 1 },
  });
}
