import type { SubAgentRun } from '@parley/store';
import { asksAlways } from '../approvals/approval-policy.ts';
import { type ToolRegistry, withoutTools } from '../tools/tool-registry.ts';
import { SUB_AGENT_BOUNDS } from './sub-agent-limits.ts';

const NOT_FOR_THEM: ReadonlySet<string> = new Set(['message', 'cron']);

/**
 * The tools of a sub-agent: those of whoever it works for, without those that speak to people or plan
 * ahead, those that somebody has to say yes to each time (there is nobody to ask), and, at the last depth, without
 * handing on. Of those that ask now and then, what needs a yes is refused call by call.
 */
export function subAgentTools(
  tools: ToolRegistry,
  { depth }: Pick<SubAgentRun, 'depth'>,
): ToolRegistry {
  return {
    for(reader) {
      const all = tools.for(reader);
      const isLast = depth >= SUB_AGENT_BOUNDS.depth;
      return withoutTools(
        all,
        (name) =>
          NOT_FOR_THEM.has(name) ||
          (isLast && name === 'delegate_task') ||
          asksAlways(all.get(name)),
      );
    },
  };
}
