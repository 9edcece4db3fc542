/**
 * SQL condition for a state as BullMQ names it, or undefined for a state without jobs here:
 * `paused` (a paused queue keeps its jobs waiting) and `waiting-children` (flows).
 */
export function stateFilter(state: string): string | undefined {
  switch (state) {
    case 'wait':
    case 'waiting':
      return "state = 'waiting' AND lane = 0";
    case 'prioritized':
      return "state = 'waiting' AND lane > 0";
    case 'delayed':
    case 'active':
    case 'completed':
    case 'failed':
      return `state = '${state}'`;
    default:
      return undefined;
  }
}

/** BullMQ's `getRanges` reverses these states itself, because Redis keeps them in lists. */
export function isListState(state: string): boolean {
  return state === 'wait' || state === 'waiting' || state === 'active';
}
