import { fullFormats } from 'ajv-formats/dist/formats.js';

/** The formats JSON Schema 2020-12 names; any other is a remark, as the standard has it. `url` is left out for its backtracking. */
const STANDARD = [
  'date-time',
  'date',
  'time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uri',
  'uri-reference',
  'uri-template',
  'uuid',
  'json-pointer',
  'relative-json-pointer',
  'regex',
] as const;

/** Ajv splits a time at every "t": of a long text that takes ten times what any other format does. */
const LONGEST_TIME = 1_000;

export const schemaFormats = {
  ...Object.fromEntries(STANDARD.map((name) => [name, fullFormats[name]])),
  'date-time': ofShortText('date-time'),
  time: ofShortText('time'),
};

function ofShortText(name: 'date-time' | 'time'): { validate: (text: string) => boolean } {
  const { validate } = fullFormats[name] as { validate: (text: string) => boolean };
  return { validate: (text) => text.length <= LONGEST_TIME && validate(text) };
}
