import { asksAlways } from '../approvals/approval-policy.ts';
import { type ToolRegistry, withoutTools } from '../tools/tool-registry.ts';

/**
 * Speak to people, hand work on or make more of it: a heartbeat tells by its answer alone (H03). Lists
 * of what is to do belong to a talk, and who one is to whoever one talks with.
 */
const NOT_IN_BEATS: ReadonlySet<string> = new Set([
  ...['message', 'delegate_task', 'cron'],
  ...['write_todos', 'propose_soul_change'],
]);

/** The tools of a heartbeat: nobody is there to say yes, so those that always ask are left out, too. */
export function beatTools(tools: ToolRegistry): ToolRegistry {
  return {
    for(reader) {
      const all = tools.for(reader);
      return withoutTools(all, (name) => NOT_IN_BEATS.has(name) || asksAlways(all.get(name)));
    },
  };
}
