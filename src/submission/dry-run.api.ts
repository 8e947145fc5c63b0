import { applyDecorators } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { ApiAnswer } from '../platform/http/api-answer.decorator.js';
import { ApiPrincipal } from '../platform/http/api-principal.decorator.js';
import { ApiProblems } from '../platform/http/api-problems.decorator.js';
import { ApiContractBody } from './api-contract-body.decorator.js';
import { DryRunDto } from './dry-run.dto.js';

const description = `
Judges the contract and looks for nodes as a submission would, as if every live node were free: it tells what exists, never
what is free. Nothing is stored or reserved, and no run id is looked up.

Safe to repeat. It answers at once.
`.trim();

export function DryRunApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'dryRun', description }),
    ApiPrincipal(),
    ApiContractBody(),
    ApiAnswer(200, 'There are nodes for every role.', { type: DryRunDto }),
    ApiProblems('invalid_contract', 'too_large', 'unsupported_media_type', 'unsatisfiable', 'too_wide', 'unavailable'),
  );
}
