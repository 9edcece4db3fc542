import type { PlanRunResult } from '@parley/store';
import { defineChatCommand } from './command.ts';

/** The text of the message that runs a plan; the model reads it as a message of the person. */
const PLAN_TEXT = 'Yes, run the plan.';

/** Runs the pending plan. The plan's button contains the id of the turn that wrote the plan. */
export const run = defineChatCommand({
  name: 'run',
  summary: 'run the plan I have made, once',
  rest: 'argument',
  who: 'everyone',
  groupRight: 'needed',
  async run({ argument, conversationId }, transaction) {
    const found = await transaction.runPlan(argument === '' ? null : argument, PLAN_TEXT);
    return {
      answer: describePlanRun(argument, found),
      settled: true,
      wake: found === 'runs' ? [conversationId] : [],
    };
  },
});

function describePlanRun(argument: string, found: PlanRunResult): string {
  switch (found) {
    case 'runs':
      return 'I’m running the plan. This conversation is now in `agent` mode.';
    case 'was-run':
      return 'That plan has been run.';
    case 'none':
      return argument === ''
        ? 'There is no plan to run.'
        : 'That plan can no longer be run: it has been run already, or something newer was said.';
  }
}
