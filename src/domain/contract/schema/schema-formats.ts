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

export const schemaFormats = Object.fromEntries(STANDARD.map((name) => [name, fullFormats[name]]));
