import { type Clock, type Logger, type Meter, reasonOf } from '@parley/contracts';
import type { ChatModel } from '@parley/models';
import {
  estimateTokens,
  type MemoryVersions,
  SAVED_FILES,
  type WorkspaceView,
} from '@parley/workspace';
import { askModel } from '../loop/ask-model.ts';
import type { StepUsage, TurnJournal } from '../loop/turn-journal.ts';
import { withTimeLimit } from '../time-limit.ts';
import { applyProposal, MEMORY_TOKENS, type UpkeepOutcome } from './apply-proposal.ts';
import { noteLines } from './note-lines.ts';
import { lastNotes } from './read-notes.ts';
import { changesOf, type UpkeepEnd, upkeepReason } from './upkeep-end.ts';
import { readProposal } from './upkeep-proposal.ts';
import { upkeepRequest } from './upkeep-request.ts';
import { fingerprintOf, readStep, type UpkeepStep, writeStep } from './upkeep-step.ts';

/** What upkeep asks with. */
export interface UpkeepDeps {
  readonly model: ChatModel;
  readonly clock: Clock;
  readonly meter: Meter;
  readonly log: Logger;
  /** What the model can take at a time, in tokens; all that is wanted when absent. */
  readonly contextTokens?: (() => number) | undefined;
}

/** One run. */
export interface UpkeepRun {
  /** Of the reader for whom it runs: everything is read through it. */
  readonly view: WorkspaceView;
  /** `2026-11-21`, where the agent is. */
  readonly today: string;
  readonly journal: Pick<TurnJournal, 'answer' | 'append'>;
  /** What may still be used, in tokens. */
  readonly tokens: number;
  /** Throws where the money is used up. */
  readonly maySpend: () => Promise<void>;
}

/** Longest the model may take, in ms. */
const ASK_MS = 180_000;
const WHOLE_FILE = Number.MAX_SAFE_INTEGER;

/**
 * Keeps MEMORY.md in order (H07): asks the model once what to add from the last daily notes and what to
 * take out, and does of that what the rules allow. Runs again after a crash without asking or writing
 * twice. Null when the lease was lost. Throws ModelError, TimeUpError and whatever `signal` fires with.
 */
export async function memoryUpkeep(
  deps: UpkeepDeps,
  run: UpkeepRun,
  signal: AbortSignal,
): Promise<UpkeepEnd | null> {
  const { versions } = run.view;
  if (versions === undefined) {
    return quiet(
      'MEMORY.md is not kept in order here: it is read in the owner’s own chat alone',
      null,
    );
  }
  const memory = await orFailed(() => versions.current());
  if (memory.kind === 'failed') return { state: 'failed', reason: memory.reason, usage: null };
  const asked = await proposalOf(deps, run, memory.found, signal);
  if (asked === null || 'reason' in asked) return asked;
  const { step, usage } = asked;
  const done = await orFailed(() => carryOut(deps, run, versions, step));
  if (done.kind === 'failed') return { state: 'failed', reason: done.reason, usage };
  return { ...done.found, usage };
}

/** A disk that does not do as it is told is no failure of the worker. */
async function orFailed<Found>(
  work: () => Promise<Found>,
): Promise<
  | { readonly kind: 'done'; readonly found: Found }
  | { readonly kind: 'failed'; readonly reason: string }
> {
  try {
    return { kind: 'done', found: await work() };
  } catch (error) {
    return { kind: 'failed', reason: `MEMORY.md: ${reasonOf(error)}` };
  }
}

function quiet(reason: string, usage: StepUsage | null): UpkeepEnd {
  return { state: 'quiet', reason, usage };
}

interface Asked {
  readonly step: UpkeepStep;
  readonly usage: StepUsage;
}

async function proposalOf(
  deps: UpkeepDeps,
  run: UpkeepRun,
  memory: string | null,
  signal: AbortSignal,
): Promise<Asked | UpkeepEnd | null> {
  const { view, today, journal } = run;
  const before = journal.answer;
  if (before !== null) return { step: readStep(before.text), usage: before.usage };
  const notes = noteLines(await lastNotes(view, today));
  const page = memory ?? '';
  if (notes.length === 0 && estimateTokens(page) <= MEMORY_TOKENS) {
    return quiet('no notes of the last days, and MEMORY.md is short enough', null);
  }
  const room = deps.contextTokens?.() ?? Number.POSITIVE_INFINITY;
  const request = upkeepRequest({ memory: page, notes, today, room }, view.reader);
  const size = estimateTokens(JSON.stringify(request));
  if (size > run.tokens)
    return quiet(`about ${size} tokens are needed, and fewer are left today`, null);
  await run.maySpend();
  const { text, usage } = await withTimeLimit({ ms: ASK_MS, stop: signal }, (stop) =>
    askModel(deps.model, request, { ...deps, onText() {} }, stop),
  );
  const step = { basis: fingerprintOf(memory), notes, said: text };
  const stored = await journal.append({ kind: 'answer', text: writeStep(step), usage });
  return stored ? { step, usage } : null;
}

async function carryOut(
  { log }: UpkeepDeps,
  { view, today }: UpkeepRun,
  versions: MemoryVersions,
  step: UpkeepStep,
): Promise<Pick<UpkeepEnd, 'state' | 'reason'>> {
  const proposal = readProposal(step.said);
  if (proposal === null)
    return { state: 'unclear', reason: 'the proposal for MEMORY.md was no JSON' };
  const current = await versions.current();
  const base = await baseOf(versions, step, current);
  if (base === null) return { state: 'quiet', reason: MEANWHILE };
  // What is not in the notes any more was forgotten since.
  const still = new Set(noteLines(await lastNotes(view, today)).map(({ text }) => text));
  const notes = step.notes.filter(({ text }) => still.has(text));
  const known = [...base.formerly, ...(await savedTexts(view))];
  const outcome = applyProposal({ memory: base.memory ?? '', notes, known }, proposal);
  log.debug({ refused: outcome.refused.map(({ why }) => why) }, 'upkeep of MEMORY.md');
  return write(versions, { base: base.memory, current, outcome });
}

const MEANWHILE = 'MEMORY.md was changed meanwhile; left for the next run';

/** What the proposal was made for, and what stood there before that. Null: it is not there any more. */
async function baseOf(
  versions: MemoryVersions,
  { basis }: UpkeepStep,
  current: string | null,
): Promise<{ readonly memory: string | null; readonly formerly: readonly string[] } | null> {
  const texts: string[] = [];
  for (const { name } of await versions.list()) texts.push((await versions.read(name))?.text ?? '');
  if (fingerprintOf(current) === basis) return { memory: current, formerly: texts };
  // A run that died behind its writing has left what was there before among the newest.
  const at = texts.slice(0, 2).findIndex((text) => fingerprintOf(text) === basis);
  if (at !== -1) return { memory: texts[at] ?? '', formerly: texts.slice(at) };
  return fingerprintOf(null) === basis ? { memory: null, formerly: [] } : null;
}

interface Writing {
  readonly base: string | null;
  readonly current: string | null;
  readonly outcome: UpkeepOutcome;
}

async function write(
  versions: MemoryVersions,
  { base, current, outcome }: Writing,
): Promise<Pick<UpkeepEnd, 'state' | 'reason'>> {
  const reason = upkeepReason(outcome);
  const to = outcome.text.trimEnd();
  if (to === (base ?? '')) return { state: 'quiet', reason };
  if (current !== base && current !== to) return { state: 'quiet', reason: MEANWHILE };
  const done = await versions.replace({ from: current, to, why: [reason, ...changesOf(outcome)] });
  if (done.kind === 'changed') return { state: 'quiet', reason: MEANWHILE };
  if (done.kind === 'refused') return { state: 'failed', reason: `MEMORY.md: ${done.detail}` };
  return { state: 'quiet', reason };
}

async function savedTexts(view: WorkspaceView): Promise<readonly string[]> {
  const files = await Promise.all(
    Object.values(SAVED_FILES).map((name) => view.read(name, WHOLE_FILE)),
  );
  return files.flatMap((file) => (file.kind === 'file' ? [file.text] : []));
}
