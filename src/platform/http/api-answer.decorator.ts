import type { Type } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import { sharedHeader } from './shared-headers.js';

interface AnswerBody {
  /** The class of a JSON body. */
  type?: Type<unknown>;
  /** The media type of a body that is no JSON, with its schema. */
  content?: Record<string, { schema: object }>;
  /** Further headers: what each says, or the shared header it is. */
  headers?: Record<string, string | { $ref: string }>;
}

/** One status that an operation answers where all is well. Every answer carries X-Request-Id. */
export function ApiAnswer(
  status: number,
  description: string,
  { type, content, headers = {} }: AnswerBody = {},
): MethodDecorator {
  const described: Record<string, object> = { 'X-Request-Id': sharedHeader('RequestId') };
  for (const [name, says] of Object.entries(headers)) {
    described[name] = typeof says === 'string' ? { description: says, schema: { type: 'string' } } : says;
  }
  return ApiResponse({
    status,
    description,
    ...(type && { type }),
    ...(content && { content }),
    headers: described,
  });
}
