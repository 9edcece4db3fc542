import { setTimeout as timer } from 'node:timers/promises';
import type { McpInputRequest, McpReply, McpResult } from '@parley/tools/mcp';
import { z } from 'zod';
import type { ToolCall } from '../../tools/tool.ts';
import { answerElicitation, type ElicitationResult, NO_PERSON } from './answer-elicitation.ts';
import { parseElicitation } from './read-request.ts';

/** A call to a server's tool, which may have to be made several times. */
export interface InteractiveMcpCall {
  readonly server: string;
  readonly tool: string;
  readonly repeat: (reply: McpReply) => Promise<McpResult | McpInputRequest>;
  readonly at: Pick<ToolCall, 'ask' | 'held' | 'signal'>;
}

/**
 * How many times a server may ask during one call, and how many questions one request may contain.
 */
const MAX_ROUNDS = 8;
const MAX_REQUESTS = 5;
/** The delay before the next attempt, in ms, for a server that only asks to be called again. */
const PAUSE_MS = 1_000;

const McpQuestions = z.object({
  asks: z.record(z.string(), z.unknown()),
  state: z.string().optional(),
});
type McpQuestions = z.infer<typeof McpQuestions>;

/**
 * Continues a call whose server asks for something first (G03). The request is journaled before a
 * person is asked, so that the run after the answer repeats the call with exactly that request,
 * even in another process. `first` is the server's current request; it is absent in a resumed run,
 * which reads the request from the journal.
 */
export async function callWithQuestions(
  call: InteractiveMcpCall,
  first?: McpInputRequest,
): Promise<{ readonly result: McpResult; readonly notes: readonly string[] }> {
  const { held } = call.at;
  const rounds = (held?.kept ?? []).flatMap((kept): McpQuestions[] => {
    const read = McpQuestions.safeParse(kept);
    return read.success ? [read.data] : [];
  });
  let asking = first ?? rounds.at(-1);
  if (asking === undefined) throw new Error('what the server asked for can no longer be read');
  let round = rounds.length;
  if (first !== undefined) {
    await held?.keep(first);
    round += 1;
  }
  for (;;) {
    if (round > MAX_ROUNDS) throw new Error(`it asked more than ${MAX_ROUNDS} times`);
    const { responses, notes } = await answerQuestions(call, asking, round);
    await held?.begin();
    const said = await call.repeat({ responses, state: asking.state });
    if ('text' in said) return { result: said, notes };
    await held?.keep(said);
    asking = said;
    round += 1;
  }
}

async function answerQuestions(
  call: InteractiveMcpCall,
  { asks }: McpQuestions,
  round: number,
): Promise<{ readonly responses: Record<string, unknown>; readonly notes: readonly string[] }> {
  const all = Object.entries(asks);
  if (all.length > MAX_REQUESTS)
    throw new Error(`it asks for ${all.length} things at once, but the maximum is ${MAX_REQUESTS}`);
  if (all.length === 0) await timer(PAUSE_MS, undefined, { signal: call.at.signal, ref: false });
  const answered: [string, ElicitationResult][] = [];
  for (const [nth, [key, asked]] of all.entries())
    answered.push([key, await answerElicitationPart(call, asked, `${round}.${nth}`)]);
  return {
    responses: Object.fromEntries(answered.map(([key, { answer }]) => [key, answer])),
    notes: answered.flatMap(([, { note }]) => note ?? []),
  };
}

async function answerElicitationPart(
  { server, tool, at: { ask } }: InteractiveMcpCall,
  asked: unknown,
  part: string,
): Promise<ElicitationResult> {
  const elicitation = parseElicitation(asked);
  if (elicitation === null)
    throw new Error(
      'it asks for something other than a question to a person, which is not supported',
    );
  if (elicitation.kind === 'unfit')
    return { answer: { action: 'decline' }, note: elicitation.reason };
  if (ask === undefined) return { answer: { action: 'decline' }, note: NO_PERSON };
  return answerElicitation(elicitation, { server, tool, message: elicitation.message }, part, ask);
}
