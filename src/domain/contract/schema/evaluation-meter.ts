import { _, type Ajv2020, type CodeKeywordDefinition } from 'ajv/dist/2020.js';
import ref from 'ajv/dist/vocabularies/core/ref.js';
import dynamicRef from 'ajv/dist/vocabularies/dynamic/dynamicRef.js';

const MOST_EVALUATIONS = 2_000_000;

/**
 * Counts the references followed while one value is judged. Without it, thirty definitions that each refer twice to the next take
 * 2³⁰ steps; everything else in a schema is bounded by its size times that of the value.
 */
export class EvaluationMeter {
  private left = MOST_EVALUATIONS;

  reset(): void {
    this.left = MOST_EVALUATIONS;
  }

  readonly spend = (): void => {
    if (--this.left < 0) throw new TooCostly();
  };

  install(ajv: Ajv2020): void {
    for (const { default: definition } of [ref, dynamicRef])
      ajv.removeKeyword(definition.keyword as string).addKeyword(this.metered(definition));
  }

  private metered(definition: CodeKeywordDefinition): CodeKeywordDefinition {
    return {
      ...definition,
      code: (cxt, ruleType) => {
        const spend = cxt.gen.scopeValue('func', { ref: this.spend });
        cxt.gen.code(_`${spend}()`);
        definition.code(cxt, ruleType);
      },
    };
  }
}

export class TooCostly extends Error {}
