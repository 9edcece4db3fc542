export { type ModelDouble, startModelDouble } from './model-double.ts';
export type { ModelFault } from './model-fault.ts';
