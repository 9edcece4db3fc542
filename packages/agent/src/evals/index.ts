export { listCases, readCase, writeCase } from './case-files.ts';
export type { CheckResult } from './check-answer.ts';
export type { EvalCase } from './eval-case.ts';
export { createJudge } from './judge.ts';
export { createCase } from './keep-case.ts';
export {
  type CaseOutcome,
  type CaseRun,
  type CaseServices,
  listLimits,
  runCase,
} from './run-case.ts';
