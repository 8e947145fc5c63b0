import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiOperation } from '@nestjs/swagger';
import { CONTRACT } from '../domain/contract/contract.js';
import { RUN_ID } from '../domain/contract/names.js';
import { ApiAnswer } from '../platform/http/api-answer.decorator.js';
import { ApiProblems } from '../platform/http/api-problems.decorator.js';
import { ApiPrincipal } from '../platform/http/principal.js';
import { sharedHeader } from '../platform/http/shared-headers.js';
import { RunDto } from '../runs/run.dto.js';
import { DryRunDto } from './dry-run.dto.js';

const BARE = RUN_ID.schema.pattern!;
const QUOTED = BARE.replace('^', '^"').replaceAll('$', '"$');

/** A contract as the body of a request, and the header that can stand for its run_id. */
function ApiContractBody(): MethodDecorator {
  return applyDecorators(
    ApiBody({ schema: CONTRACT.schema, required: true, description: 'The contract, at most 256 KiB.' }),
    ApiHeader({
      name: 'Idempotency-Key',
      required: false,
      description: 'Taken as `run_id` where the contract has none. With or without quotes it is the same.',
      schema: { type: 'string', pattern: `${BARE}|${QUOTED}` },
    }),
  );
}

const RUN_HEADERS = { Location: 'Path of the run.', ETag: 'The `version` of the run, in quotes.' };

const SUBMIT_RUN = `
Looks for nodes that satisfy every role of the contract. Where they are free, all of them are leased to the run at once and
it is RUNNING (201). Where they exist but some are taken, the run is QUEUED (202): it holds nothing, and the event that frees
the last node it waits for promotes it, in arrival order. Where no live nodes could do it, or it would take more nodes than
one run may hold, it is stored as FAILED and refused (422, with its \`run_id\`).

**Safe to repeat** with the same \`run_id\` (or \`Idempotency-Key\`): once the run exists, it is answered as it is now (200)
and nothing new is stored. If the contract differs, the stored one stands and \`warnings\` says so. A run of this id that
somebody else has submitted is not yours: 422 \`run_id_taken\`. Without either, each request makes a run of its own.

It answers at once and never waits for nodes. After 202, read the run until its state changes.
`.trim();

export function SubmitRunApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'submitRun', description: SUBMIT_RUN }),
    ApiPrincipal(),
    ApiContractBody(),
    ApiAnswer(200, 'The run existed already, and is yours. It is answered as it is now.', {
      type: RunDto,
      headers: RUN_HEADERS,
    }),
    ApiAnswer(201, 'The run holds its nodes.', { type: RunDto, headers: RUN_HEADERS }),
    ApiAnswer(202, 'The run waits for nodes that others hold.', {
      type: RunDto,
      headers: { ...RUN_HEADERS, 'Retry-After': sharedHeader('RetryAfter') },
    }),
    ApiProblems(
      'invalid_contract',
      'too_large',
      'unsupported_media_type',
      'unsatisfiable',
      'too_wide',
      'run_id_taken',
      'unavailable',
    ),
  );
}

const DRY_RUN = `
Judges the contract and looks for nodes as a submission would, as if every live node were free: it tells what exists, never
what is free. Nothing is stored or reserved, and no run id is looked up.

Safe to repeat. It answers at once.
`.trim();

export function DryRunApi(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'dryRun', description: DRY_RUN }),
    ApiPrincipal(),
    ApiContractBody(),
    ApiAnswer(200, 'There are nodes for every role.', { type: DryRunDto }),
    ApiProblems('invalid_contract', 'too_large', 'unsupported_media_type', 'unsatisfiable', 'too_wide', 'unavailable'),
  );
}
