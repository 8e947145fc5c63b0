import { ApiProperty } from '@nestjs/swagger';
import { IsString, Length } from 'class-validator';
import { ApiModel } from '../platform/http/api-model.decorator.js';

const MOST_REASON = 500;
const REASON_RULE = { message: `must be a string of 1 to ${MOST_REASON} characters` };

@ApiModel('HoldRequest', 'Why a node is taken out of service. Unknown keys are ignored.')
export class HoldNodeDto {
  /** A sentence for those who wait for the node, and for the next shift. */
  @ApiProperty({ type: 'string', minLength: 1, maxLength: MOST_REASON })
  @IsString(REASON_RULE)
  @Length(1, MOST_REASON, REASON_RULE)
  reason!: string;
}

@ApiModel('Hold', 'Who has taken a node out of service, and why.')
export class HoldDto {
  reason!: string;
  /** The principal; `mediator`: the Mediator itself. */
  by!: string;
  /** Since when it is out of service. */
  @ApiProperty({ format: 'date-time' })
  since!: string;
  /** Of the Mediator's own hold: the runs that the node ended by its own doing, one after the other. */
  @ApiProperty({ type: [String], required: false })
  evidence?: string[];
}
