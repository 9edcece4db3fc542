import type { ToolRegistry } from '../tools/tool-registry.ts';
import { withoutTools } from '../tools/without-tools.ts';

/** Speak to people, hand work on or make more of it: a heartbeat tells by its answer alone (H03). */
const NOT_IN_BEATS: ReadonlySet<string> = new Set(['message', 'delegate_task', 'cron']);

/** The tools of a heartbeat: nobody is there to say yes, so those that ask for it are left out, too. */
export function beatTools(tools: ToolRegistry): ToolRegistry {
  return {
    for(reader) {
      const all = tools.for(reader);
      return withoutTools(
        all,
        (name) => NOT_IN_BEATS.has(name) || all.get(name)?.approval === 'ask',
      );
    },
  };
}
