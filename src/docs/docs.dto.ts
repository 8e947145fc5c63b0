import { ApiProperty } from '@nestjs/swagger';

export class IndexDto {
  @ApiProperty({ example: 'mediator' })
  name!: string;
  version!: string;
  /** Path of the pages that describe the API. */
  docs!: string;
  /** Path of the OpenAPI document. */
  openapi!: string;
}

export class ProblemPageDto {
  code!: string;
  @ApiProperty({ type: 'integer' })
  status!: number;
  title!: string;
  /** What it means to who sent the request. */
  caller!: string;
  /** What it means to who runs the server. */
  operator!: string;
}
