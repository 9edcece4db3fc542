import { writeFileSync } from 'node:fs';
import {
  type CaseOutcome,
  type CaseRun,
  createJudge,
  type EvalCase,
  listCases,
  readCase,
  runCase,
  writeCase,
} from '@parley/agent/evals';
import { reasonOf, silentLogger, silentMeter, systemTime } from '@parley/core';
import type { ChatModel } from '@parley/models';
import type { Store } from '@parley/store';
import { getModelName } from '../../agents.ts';
import { type CliContext, formatJson, hasDatabase, withStore } from '../../cli.ts';
import { CliError, UsageError } from '../../data-folder.ts';
import { loadPluginsForCommand } from '../../plug-in.ts';
import { type LoadedSettings, readSettings } from '../../settings.ts';
import { openReplayModels } from '../replay/replay-models.ts';
import {
  createEvalReport,
  type EvaluatedCase,
  formatCost,
  formatEvalReport,
  formatJunit,
  isRejected,
} from './eval-report.ts';
import { formatKeptCase, keepTurn } from './keep-turn.ts';
import { type Evaluation, openEvaluation } from './open-evaluation.ts';

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

/**
 * `parley eval` (G22): runs the cases of a workspace. Without `--live`, no model is asked and no
 * database is needed, so that it can run in CI.
 */
export async function runEval(
  cli: CliContext,
  names: readonly string[],
  flags: EvalFlags,
): Promise<number> {
  const { folder, env } = cli;
  checkFlags(names, flags);
  const loaded = readSettings(folder, env);
  const needsStore = flags.live === true || flags.keep !== undefined;
  if (!needsStore && !hasDatabase(folder, loaded))
    return evaluate(cli, names, flags, { loaded, store: null });
  return withStore(cli, (store) => evaluate(cli, names, flags, { loaded, store }));
}

function checkFlags(names: readonly string[], flags: EvalFlags): void {
  const { live, record, model, judge, keep } = flags;
  if (live !== true && (record === true || model !== undefined || judge !== undefined))
    throw new UsageError('--record, --model and --judge ask a model, so they need --live.');
  if (keep !== undefined && names.length !== 1)
    throw new UsageError('--keep needs one name for the case: parley eval NAME --keep TURN.');
}

interface EvalStore {
  readonly loaded: LoadedSettings;
  readonly store: Store | null;
}

async function evaluate(
  cli: CliContext,
  names: readonly string[],
  flags: EvalFlags,
  { loaded, store }: EvalStore,
): Promise<number> {
  const { folder, env, agent: name, print } = cli;
  const plugged = await loadPluginsForCommand(loaded, { folder, env });
  try {
    const evaluation = await openEvaluation({ plugged, folder, env, name, store });
    const { workspace } = evaluation;
    if (flags.keep !== undefined && store !== null) {
      const order = { turn: flags.keep, name: names[0] ?? '' };
      print(formatKeptCase(await keepTurn(evaluation, store, order)));
      return 0;
    }
    const all = names.length > 0 ? names : await listCases(workspace);
    if (flags.list === true) {
      print(flags.json === true ? formatJson(all) : all.join('\n'));
      return 0;
    }
    if (all.length === 0)
      throw new CliError(
        'eval-none',
        `There are no cases in ${workspace}/evals yet. "parley eval NAME --keep TURN" keeps a turn as one; docs/evals.md shows how to write one.`,
      );
    const run = await openRun(cli, evaluation, flags, { loaded, store });
    const cases: EvaluatedCase[] = [];
    for (const one of all) cases.push(await evaluateCase(evaluation, one, run, flags));
    return printReport(cli, createEvalReport(cases), flags);
  } finally {
    plugged.end();
  }
}

type OpenRun = (signal: AbortSignal) => Promise<CaseRun>;

/** Opens the models; without `--live` there are none. */
async function openRun(
  { folder, env }: CliContext,
  { agent }: Evaluation,
  { live, model, judge }: EvalFlags,
  { loaded, store }: EvalStore,
): Promise<OpenRun> {
  if (live !== true || store === null) return async () => ({ model: null });
  const deps = { store, loaded, folder, env, ...systemTime, log: silentLogger };
  const open = async (asked: string | undefined): Promise<ChatModel | null> => {
    const choose = openReplayModels(agent, { model: asked, other: undefined }, deps);
    return (await choose(getModelName(agent.settings))).model;
  };
  const answering = await open(model);
  const judging = judge === undefined ? answering : await open(judge);
  return async (signal) => ({
    model: answering,
    judge:
      judging === null
        ? undefined
        : createJudge(
            // The model itself checks the spend caps and charges each answer.
            {
              model: judging,
              ...systemTime,
              meter: silentMeter,
              mayAsk: async () => {},
              spent: async () => {},
            },
            signal,
          ),
  });
}

/** Runs one case. Whatever goes wrong with it is part of its result, so that the others still run. */
async function evaluateCase(
  { workspace, services, toTurn }: Evaluation,
  name: string,
  openRun: OpenRun,
  flags: EvalFlags,
): Promise<EvaluatedCase> {
  const startedAt = systemTime.monotonic();
  const { parsed } = await readCase(workspace, name);
  const took = () => systemTime.monotonic() - startedAt;
  const nothing = { name, title: '', checks: [], answer: null };
  if (parsed.kind === 'broken')
    return { ...nothing, kind: 'broken', problems: parsed.problems, ms: took() };
  const { value } = parsed;
  const signal = AbortSignal.timeout(flags.seconds * 1_000);
  try {
    const run = await openRun(signal);
    const outcome = await runCase(value, await toTurn(value), services, run, signal);
    const changed = updateCase(value, outcome, flags);
    if (changed !== null) await writeCase(workspace, name, changed, { replace: true });
    const { kind, problems, checks, answer } =
      flags.accept === true ? acceptOutcome(outcome, value) : outcome;
    return { name, title: value.title, kind, problems, checks, answer, ms: took() };
  } catch (error) {
    const problems = [`It could not be run: ${reasonOf(error)}`];
    return { ...nothing, title: value.title, kind: 'failed', problems, ms: took() };
  }
}

/** The case with what the person accepts or records; null if it stays as it is. */
function updateCase(
  value: EvalCase,
  { prompt, rounds }: CaseOutcome,
  { accept, record }: EvalFlags,
): EvalCase | null {
  const answers = record === true && rounds.length > 0 ? rounds : value.answers;
  if (accept !== true && answers === value.answers) return null;
  return { ...value, answers, ...(accept === true && { prompt }) };
}

/** An accepted request is no problem any more; failed checks still are. */
function acceptOutcome(outcome: CaseOutcome, { answers }: EvalCase): CaseOutcome {
  const isFailed = outcome.checks.some((check) => check.outcome === 'failed');
  const isUnanswered = outcome.answer === null && answers.length > 0;
  return isFailed || isUnanswered ? outcome : { ...outcome, kind: 'passed', problems: [] };
}

function printReport(
  { print }: CliContext,
  report: ReturnType<typeof createEvalReport>,
  { junit, json }: EvalFlags,
): number {
  if (junit !== undefined) writeFileSync(junit, formatJunit(report));
  if (json === true) print(formatJson(report));
  else print([formatEvalReport(report), formatCost(report)].filter(Boolean).join('\n'));
  return isRejected(report) ? 1 : 0;
}
