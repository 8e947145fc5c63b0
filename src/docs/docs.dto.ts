import { ApiProperty } from '@nestjs/swagger';
import { PROBLEMS } from '../domain/problem-codes.js';
import { ApiModel } from '../platform/http/api-model.decorator.js';

@ApiModel('ServerInfo', 'What this server is.')
export class ServerInfoDto {
  /** `mediator`. */
  name!: string;
  version!: string;
  /** Path of the pages that describe the API. */
  @ApiProperty({ format: 'uri-reference' })
  docs!: string;
  /** Path of the OpenAPI document. */
  @ApiProperty({ format: 'uri-reference' })
  openapi!: string;
}

@ApiModel('ProblemExplanation', 'What a kind of problem means.')
export class ProblemPageDto {
  @ApiProperty({ enum: Object.keys(PROBLEMS), enumName: 'ProblemCode' })
  code!: string;
  /** The status with which it is answered. */
  @ApiProperty({ type: 'integer', minimum: 400, maximum: 599 })
  status!: number;
  title!: string;
  /** What it means to who sent the request. */
  caller!: string;
  /** What it means to who runs the server. */
  operator!: string;
}
