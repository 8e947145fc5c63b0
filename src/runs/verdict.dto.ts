import { ApiProperty } from '@nestjs/swagger';
import { VERDICT_REASONS, type VerdictReason } from '../domain/verdict.js';
import { ApiModel } from '../platform/http/api-model.decorator.js';

@ApiModel('Actor', 'Who did it.')
export class ActorDto {
  @ApiProperty({ enum: ['person', 'node', 'server'], enumName: 'ActorKind' })
  kind!: 'person' | 'node' | 'server';
  /** The principal, the node_id, or `mediator`. */
  name!: string;
}

@ApiModel('Check', 'One thing that was judged. `want` and `got` are there where they say more than `ok`.')
export class CheckDto {
  /** The step that was judged; absent: the run as a whole. */
  step?: string;
  /** What of it: its `state`, its `exit_code`, or that it was `skipped`. */
  what!: string;
  @ApiProperty({
    required: false,
    description: 'What would have been right.',
    oneOf: [{ type: 'integer' }, { type: 'string' }],
  })
  want?: unknown;
  @ApiProperty({ required: false, description: 'What was found.', oneOf: [{ type: 'integer' }, { type: 'string' }] })
  got?: unknown;
  ok!: boolean;
}

@ApiModel('Verdict', 'Why a run ended as it did.')
export class VerdictDto {
  /** What a program decides by. */
  @ApiProperty({ enum: VERDICT_REASONS, enumName: 'VerdictReason' })
  reason!: VerdictReason;
  /** A sentence for a person. */
  detail!: string;
  by!: ActorDto;
  checks!: CheckDto[];
}
