import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, IsBoolean, IsIn, IsInt, IsOptional, IsString, Matches, Max, Min } from 'class-validator';
import { WholeNumber } from '../platform/http/validation.js';

/** What a node is, in one word: the first of these that holds. No node is kept for a run yet. */
export const NODE_STATES = ['silent', 'busy', 'draining', 'held', 'kept', 'free'] as const;
export type NodeState = (typeof NODE_STATES)[number];

const MOST_ATTRIBUTES = 16;
const LIMIT_RULE = { message: 'must be a whole number from 1 to 200' };

export class NodesQueryDto {
  /** Also nodes whose advert has expired, with `live: false`. */
  @ApiProperty({ required: false, type: 'boolean' })
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (value === 'true' ? true : value === 'false' ? false : value))
  @IsBoolean({ message: 'must be true or false' })
  all: boolean = false;

  /** How many nodes at most, from 1 to 200; a page of large adverts ends sooner, at about 1 MiB. Without it: all of them. */
  @ApiProperty({ type: 'integer', minimum: 1, maximum: 200, required: false })
  @IsOptional()
  @WholeNumber()
  @IsInt(LIMIT_RULE)
  @Min(1, LIMIT_RULE)
  @Max(200, LIMIT_RULE)
  limit?: number;

  /** The `next` of the page before; without it the list begins at its beginning. It stays right while nodes come and go. */
  @ApiProperty({ type: 'string', required: false })
  @IsOptional()
  @IsString({ message: 'must be given once' })
  cursor?: string;

  /** Only nodes that offer this capability. */
  @ApiProperty({ type: 'string', required: false })
  @IsOptional()
  @IsString({ message: 'must be given once' })
  capability?: string;

  /**
   * `key:value`. Only nodes with an entry (of the `capability`, if that is given) that has this attribute; given several
   * times, one that has them all. The key `node_id` names the node itself, as it does in a contract.
   */
  @ApiProperty({ type: [String], maxItems: MOST_ATTRIBUTES, required: false })
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? [value] : value))
  @ArrayMaxSize(MOST_ATTRIBUTES, { message: `must be given at most ${MOST_ATTRIBUTES} times` })
  @Matches(/^[^:]+:/, { each: true, message: 'must be key:value' })
  attr?: string[];

  /**
   * Only nodes of which this is the first that holds: `silent` (not live), `busy`, `draining`, `held`, `kept`, `free`.
   */
  @ApiProperty({ enum: NODE_STATES, enumName: 'NodeState', required: false })
  @IsOptional()
  @IsIn(NODE_STATES, { message: `must be one of ${NODE_STATES.join(', ')}` })
  state?: NodeState;
}
