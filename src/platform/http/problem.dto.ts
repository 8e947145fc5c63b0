import { ApiProperty } from '@nestjs/swagger';
import { PROBLEMS } from '../../domain/problem-codes.js';
import { ApiModel } from './api-model.decorator.js';

@ApiModel('Fault', 'One thing that is wrong with what was sent.')
export class FaultDto {
  /** Where: a JSON pointer (RFC 6901) into the body, or `/` and the name of a query parameter. */
  pointer!: string;
  /** What would be right, in a sentence. */
  detail!: string;
}

@ApiModel('Problem', 'Why a request was refused (RFC 9457). `code` is what a program decides by.')
export class ProblemDto {
  /** `/problems/<code>`, where it is explained. */
  @ApiProperty({ format: 'uri-reference' })
  type!: string;
  /** The same for every problem of this code. */
  title!: string;
  /** The status of the answer. */
  @ApiProperty({ type: 'integer', minimum: 400, maximum: 599 })
  status!: number;
  /** What is wrong with this request, for a person. */
  detail!: string;
  /** The path that was asked. */
  @ApiProperty({ format: 'uri-reference' })
  instance!: string;
  /** The kind of problem. Codes are never renamed; new ones may come. */
  @ApiProperty({ enum: Object.keys(PROBLEMS), enumName: 'ProblemCode' })
  code!: string;
  /** Names the request in the log of the server. */
  request_id!: string;
  /** Every fault that was found, where there are places to point at. */
  errors?: FaultDto[];
  /** The run that a rejected submission has been stored as (`unsatisfiable`, `too_wide`), or whose id is taken (`run_id_taken`). */
  run_id?: string;
  /** Who submitted the run whose id is taken (`run_id_taken`). */
  principal?: string;
}
