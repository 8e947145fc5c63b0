import { ApiProperty } from '@nestjs/swagger';
import { ApiModel } from '../platform/http/api-model.decorator.js';

@ApiModel('ShownOutput', 'An output that a question shows: its newest upload. What was not uploaded yet is left out.')
export class ShownOutputDto {
  name!: string;
  /** As it was uploaded. */
  media_type!: string;
  /** In bytes. */
  @ApiProperty({ type: 'integer', minimum: 0 })
  size!: number;
  /**
   * The first 16 KiB of a text (`text/*`, `application/json`, `+json`), cut between two characters. Left out where the bytes
   * are no UTF-8.
   */
  text?: string;
}

@ApiModel('AnswerSchema', 'The JSON Schema (2020-12) of an object, from which a form can be drawn.', {
  additionalProperties: true,
})
class AnswerSchemaDto {}

@ApiModel('Question', 'An open question of a run to a person.')
export class AskDto {
  run_id!: string;
  @ApiProperty({ type: 'integer', minimum: 1 })
  seq!: number;
  /** The step that asks. */
  id!: string;
  /** The question. */
  prompt!: string;
  /** What the answer must satisfy. */
  @ApiProperty({ type: AnswerSchemaDto })
  schema!: Record<string, unknown>;
  /** Who may answer, nobody else; null: anybody who may submit. */
  @ApiProperty({ type: [String] })
  answerers!: string[] | null;
  @ApiProperty({ format: 'date-time' })
  asked_at!: string;
  /** When it is answered by the `default` of the contract, or, without one, the run fails; null: it waits for ever. */
  @ApiProperty({ type: 'string', format: 'date-time' })
  deadline!: string | null;
  /** Whether you may answer. */
  can_answer!: boolean;
  /** What to look at before. */
  shown!: ShownOutputDto[];
}

@ApiModel('QuestionList', 'A page of open questions.')
export class AskListDto {
  /** The oldest first. */
  items!: AskDto[];
  /** Cursor of the next page; null at the end. */
  next!: string | null;
}
