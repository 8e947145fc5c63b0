import type { Type } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import { sharedHeader } from './shared-headers.js';

/** What headers say, by their name, or the shared header that each is. */
export type HeaderTexts = Record<string, string | { $ref: string }>;

interface AnswerBody {
  /** The class of a JSON body. */
  type?: Type<unknown>;
  /** The media type of a body that is no JSON, with its schema. */
  content?: Record<string, { schema: object }>;
  /** Further headers that always come: what each says, or the shared header it is. */
  headers?: HeaderTexts;
  /** Headers that come where what they tell is the case. */
  sometimes?: Record<string, string>;
}

/** One status that an operation answers where all is well. Every answer carries X-Request-Id and Cache-Control. */
export function ApiAnswer(
  status: number,
  description: string,
  { type, content, headers = {}, sometimes = {} }: AnswerBody = {},
): MethodDecorator {
  return ApiResponse({
    status,
    description,
    ...(type && { type }),
    ...(content && { content }),
    headers: describedHeaders(headers, sometimes),
  });
}

/** The headers of an answer, with those that every one has. */
export function describedHeaders(always: HeaderTexts, sometimes: Record<string, string>): Record<string, object> {
  const described: Record<string, object> = {
    'X-Request-Id': sharedHeader('RequestId'),
    'Cache-Control': sharedHeader('CacheControl'),
  };
  for (const [name, says] of Object.entries(always)) {
    const schema = { type: 'string' };
    described[name] = typeof says === 'string' ? { description: says, required: true, schema } : says;
  }
  for (const [name, description] of Object.entries(sometimes)) {
    described[name] = { description, schema: { type: 'string' } };
  }
  return described;
}
