import { type Clock, type Logger, silentLogger } from '@parley/core';
import type { WorkspaceView } from '@parley/workspace';
import type { TurnLimits } from '../loop/turn-limits.ts';
import { runTool, type ToolCall } from '../tools/tool.ts';
import { openTurn } from '../turn/build-prompt.ts';
import type { PreviewServices } from '../turn/preview-turn.ts';
import type { RunUnknownCall } from './journal-calls.ts';
import type { TurnRecord } from './recorded-turn.ts';

/** What tools that only read may use during a replay. */
export interface LiveReads {
  readonly services: PreviewServices;
  readonly limits: TurnLimits;
  readonly clock: Clock;
}

/**
 * Runs calls that the record does not know, if their tool only reads and never needs an approval.
 * Every other call ends the replay.
 */
export async function openLiveReads(
  record: TurnRecord,
  { services, limits, clock }: LiveReads,
  signal: AbortSignal,
): Promise<RunUnknownCall> {
  const { turn, media, messages } = record;
  const opened = await openTurn(turn, services, media);
  const tools = services.tools?.for(turn.reader);
  const { session, route, reader, turnId } = turn;
  const log: Logger = silentLogger;
  const context: Omit<ToolCall, 'signal' | 'callId'> = {
    ...{ turnId, session, route, reader, clock, log, facts: opened.facts },
    messages: messages.map(({ message }) => message),
    view: withoutWriting(opened.view),
  };
  return async ({ key, call }) => {
    const tool = tools?.get(call.name);
    if (tools === undefined || tool?.effect !== 'read' || tool.approval !== 'never') return null;
    const foreign = tools.foreign.has(tool.name);
    const offered = tools.definitions.find(({ name }) => name === tool.name);
    const about = { ...context, callId: key };
    return runTool({ tool, foreign, offered }, call, about, limits, signal);
  };
}

const REFUSED = {
  kind: 'refused',
  reason: 'protected',
  detail: 'a replay changes nothing',
} as const;

function withoutWriting({ reader, groupMemory, ...view }: WorkspaceView): WorkspaceView {
  return {
    ...{ reader, groupMemory },
    ...{ read: view.read, readBytes: view.readBytes, list: view.list },
    write: async () => REFUSED,
    change: async () => REFUSED,
    plan: async () => REFUSED,
  };
}
