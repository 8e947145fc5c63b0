import { OPERATIONS } from '../../support/openapi.js';

/** Which of the documented answers have been met. */
export class Coverage {
  readonly #met = new Set<string>();

  add(operationId: string | undefined, status: number): void {
    this.#met.add(`${operationId} ${status}`);
  }

  /** Every `operation status` of the document that was never met, of those that `wanted` picks. */
  missing(wanted: (status: number) => boolean): string[] {
    return OPERATIONS.flatMap(({ operation: { operationId, responses } }) =>
      Object.keys(responses)
        .map(Number)
        .filter(wanted)
        .map((status) => `${operationId} ${status}`)
        .filter((key) => !this.#met.has(key)),
    );
  }
}
