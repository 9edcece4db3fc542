import type { ToolCallOfTurn } from '@parley/core';
import type { VNode } from 'preact';
import { formatCounted, formatDuration } from '../ui/format.ts';

interface CallsProps {
  readonly calls: readonly ToolCallOfTurn[];
  /** Whether the turn is still running; its list of calls stays open until it ends. */
  readonly isLive: boolean;
}

/**
 * The tool calls of a turn, which are expanded while it runs and collapsed to one line after it has
 * answered.
 */
export function ToolCalls({ calls, isLive }: CallsProps): VNode | null {
  if (calls.length === 0) return null;
  return (
    <details class="calls" open={isLive}>
      <summary>{isLive ? 'Working' : summarizeCalls(calls)}</summary>
      <ul>
        {calls.map(({ callId, tool, about, state, ms }) => (
          <li key={callId} class={`row is-${state}`}>
            <b>{tool}</b> <span class="clip">{about}</span>
            <span class="hint">{describeCallState(state, ms, isLive)}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}

function summarizeCalls(calls: readonly ToolCallOfTurn[]): string {
  const ms = calls.reduce((sum, call) => sum + call.ms, 0);
  const failed = calls.filter(({ state }) => state === 'failed').length;
  return [
    formatCounted(calls.length, 'tool'),
    formatDuration(ms),
    ...(failed === 0 ? [] : [`${failed} failed`]),
  ].join(', ');
}

/** A call may never have completed, because its turn was stopped or is waiting for a person. */
function describeCallState(state: ToolCallOfTurn['state'], ms: number, isLive: boolean): string {
  if (state === 'running') return isLive ? 'running' : 'not finished';
  return state === 'failed' ? `failed, ${formatDuration(ms)}` : formatDuration(ms);
}
