import type { ModelRequest } from '@parley/models';
import { type Canary, type CanaryBook, maySee, type ReaderAudience } from './canaries.ts';
import type { RandomChance } from './chance.ts';
import type { HostileModel } from './hostile-model.ts';
import type { PrivacyStage } from './privacy-stage.ts';
import type { PrivateWorld } from './private-world.ts';
import { SHOWN_TO_OWNERS } from './shown-files.ts';
import type { PrivacyTally } from './tally.ts';

/** What is checked, and where the results are counted. */
export interface RunJudgment {
  readonly book: CanaryBook;
  /** The world of each agent. */
  readonly worldOf: (agent: string | undefined) => PrivateWorld;
  readonly stage: PrivacyStage;
  readonly model: HostileModel;
  readonly tally: PrivacyTally;
  /**
   * The words in the answers so far, by conversation. They belong to that chat: its people have
   * read them, and its history may keep them regardless of who owns the agent later.
   */
  readonly told: Map<string, Set<Canary>>;
}

/** Checks every request of a run, and the answer to the chat if the turn ended with one. */
export async function judgeRun(
  judged: RunJudgment,
  reader: ReaderAudience,
  name: string,
  ended: boolean,
): Promise<void> {
  const { book, stage, tally, model, told } = judged;
  const known = told.get(reader.conversationId) ?? new Set();
  told.set(reader.conversationId, known);
  const asked = model.takeAsked();
  for (const request of asked) {
    tally.requests += 1;
    for (const canary of findShownWords(request, book, known)) {
      if (maySee(reader, canary)) countCanary(tally, reader, canary);
      else tally.leaks.push(`${name}: a request holds ${describeCanary(canary)}`);
    }
  }
  const [first] = asked;
  if (reader.isOwner && first !== undefined) {
    checkPrivateParts(judged, judged.worldOf(reader.agent), first, name);
  }
  if (!ended) return;
  tally.refused += countRefusals(asked.at(-1));
  for (const canary of book.found(JSON.stringify(await stage.lastAnswer()))) {
    if (!maySee(reader, canary) && !known.has(canary)) {
      tally.leaks.push(`${name}: an answer holds ${describeCanary(canary)}`);
    }
    known.add(canary);
  }
}

/** The canaries of a request, except those in earlier answers that the chat has already read. */
function findShownWords(
  { messages, ...rest }: ModelRequest,
  book: CanaryBook,
  known: ReadonlySet<Canary>,
): readonly Canary[] {
  const answers = messages.filter(({ role }) => role === 'assistant');
  const others = messages.filter(({ role }) => role !== 'assistant');
  const repeated = [...book.found(JSON.stringify(answers))].filter((word) => !known.has(word));
  return [...book.found(JSON.stringify([rest, others])), ...repeated];
}

function countCanary(tally: PrivacyTally, reader: ReaderAudience, { meantFor }: Canary): void {
  if (meantFor.kind === 'said' && meantFor.conversationId !== reader.conversationId) {
    tally.remembered += 1;
  }
  if (meantFor.kind === 'everyone' && !reader.isOwner) tally.publicShown += 1;
  if (meantFor.kind === 'group') tally.groupShown += 1;
}

/** The opposite check: an owner's turn contains everything that its layout shows. */
function checkPrivateParts(
  { stage, tally }: RunJudgment,
  world: PrivateWorld,
  request: ModelRequest,
  name: string,
): void {
  tally.ownerTurns += 1;
  const { layout, mode } = stage.choice;
  if (mode !== 'full') return;
  const text = JSON.stringify(request);
  for (const file of SHOWN_TO_OWNERS[layout]) {
    const canary = world.wordOf(file);
    if (canary === undefined) continue;
    if (!text.includes(canary.word)) tally.missing.push(`${name}: ${file} is missing`);
    else if (canary.meantFor.kind === 'owner') tally.privateShown += 1;
  }
}

/** Tool results that report that there is nothing for this reader. */
function countRefusals(request: ModelRequest | undefined): number {
  const messages = request?.messages ?? [];
  return messages.filter((message) => message.role === 'tool' && message.failed === true).length;
}

function describeCanary({ where, meantFor, agent = 'main' }: Canary): string {
  const whom = 'conversationId' in meantFor ? meantFor.conversationId : meantFor.kind;
  return `${where} of ${agent} (for ${whom})`;
}

/** A model's answer that repeats a little of what it was shown. */
export function createEcho(request: ModelRequest, book: CanaryBook, chance: RandomChance): string {
  if (!chance.happens(0.1)) return 'fine';
  const words = [...book.found(JSON.stringify(request))].map(({ word }) => word);
  return `I was shown ${words.slice(0, 5).join(' and ')}.`;
}
