export {
  type CaseFile,
  listCases,
  readCase,
  writeCase,
} from './case-files.ts';
export type { CheckResult, JudgeAnswer } from './check-answer.ts';
export type { AnswerCheck, EvalCase } from './eval-case.ts';
export { createCase } from './keep-case.ts';
export { type CaseOutcome, type CaseServices, listLimits, runCase } from './run-case.ts';
