import type { ToolCallOfTurn } from '@parley/core';
import type { VNode } from 'preact';
import { counted, spanOf } from '../ui/format.ts';

interface CallsProps {
  readonly calls: readonly ToolCallOfTurn[];
  /** The turn is under way: what it does stands open. */
  readonly isLive: boolean;
}

/** The tools that a turn has called: open while it works, one line once it has answered. */
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

/** A turn that was stopped, or waits for a person, leaves a call that has not ended. */
function stateText(state: ToolCallOfTurn['state'], ms: number, isLive: boolean): string {
  if (state === 'running') return isLive ? 'running' : 'not finished';
  return state === 'failed' ? `failed, ${spanOf(ms)}` : spanOf(ms);
}
