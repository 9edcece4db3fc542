import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CaseOutcome, createCase, type EvalCase, listCases, listLimits, readCase, runCase, writeCase } from '@parley/agent/evals';
import { createCheckRunner, silentLogger, systemTime } from '@parley/core';
import type { Store } from '@parley/store';
import { type CliContext, formatJson, hasDatabase, withStore } from '../../cli.ts';
import { CliError, UsageError } from '../../data-folder.ts';
import { findChosenAgent, readSettings } from '../../settings.ts';
import { createEvalReport, type EvaluatedCase, formatCost, formatEvalReport, formatJunit, isRejected } from './eval-report.ts';
import { type EvalDeps, openEvaluation } from './open-evaluation.ts';

/** The options of `parley eval`. */
export interface EvalFlags {
  readonly live?: boolean;
  readonly model?: string;
  readonly judge?: string;
  readonly record?: boolean;
  readonly accept?: boolean;
  /** The turn to keep as a case. */
  readonly keep?: string;
  readonly list?: boolean;
  readonly junit?: string;
  readonly seconds: number;
  readonly json?: boolean;
}
