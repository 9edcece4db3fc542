export { type HeldAnswer, HeldAnswers } from './held-answers.ts';
export { type ModelDouble, startModelDouble } from './model-double.ts';
export type { ModelFault } from './model-fault.ts';
