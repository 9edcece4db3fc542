import type { ToolCallOfTurn } from '@parley/core';
import type { VNode } from 'preact';
import { counted, spanOf } from '../ui/format.ts';

interface CallsProps {
  readonly calls: readonly ToolCallOfTurn[];
  /** Whether the turn is still running, which keeps the list of its calls open. */
  readonly isLive: boolean;
}

/**
 * The tool calls of a turn: expanded while it runs, collapsed to one line after it has answered.
 */
export function Calls({ calls, isLive }: CallsProps): VNode | null {
  if (calls.length === 0) return null;
  return (
    <details class="calls" open={isLive}>
      <summary>{isLive ? 'Working' : callsSummary(calls)}</summary>
      <ul>
        {calls.map(({ callId, tool, about, state, ms }) => (
          <li key={callId} class={`row is-${state}`}>
            <b>{tool}</b> <span class="clip">{about}</span>
            <span class="hint">{stateText(state, ms, isLive)}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}

function callsSummary(calls: readonly ToolCallOfTurn[]): string {
  const ms = calls.reduce((sum, call) => sum + call.ms, 0);
  const failed = calls.filter(({ state }) => state === 'failed').length;
  return [
    counted(calls.length, 'tool'),
    spanOf(ms),
    ...(failed === 0 ? [] : [`${failed} failed`]),
  ].join(', ');
}

/** A call may never have completed, because its turn was stopped or is waiting for a person. */
function stateText(state: ToolCallOfTurn['state'], ms: number, isLive: boolean): string {
  if (state === 'running') return isLive ? 'running' : 'not finished';
  return state === 'failed' ? `failed, ${spanOf(ms)}` : spanOf(ms);
}
