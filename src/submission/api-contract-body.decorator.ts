import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiHeader } from '@nestjs/swagger';
import { ContractDto } from './contract.dto.js';

/** A contract as the body of a request, and the header that can stand for its run_id. */
export function ApiContractBody(): MethodDecorator {
  return applyDecorators(
    ApiBody({ type: ContractDto, required: true, description: 'The contract, at most 256 KiB.' }),
    ApiHeader({
      name: 'Idempotency-Key',
      required: false,
      description: 'Taken as `run_id` where the contract has none. With or without quotes it is the same.',
      schema: { type: 'string', pattern: '^(?!"?\\.{1,2}"?$)([A-Za-z0-9._:@+-]{1,200}|"[A-Za-z0-9._:@+-]{1,200}")$' },
    }),
  );
}
