import type { Mutation } from './mutations.ts';

/**
 * Planted faults in what an agent may do, what it may know, what it does unprompted, and what is
 * retained.
 */
export const AGENT_MUTATIONS: readonly Mutation[] = [
  {
    name: 'people who are not approvers may approve',
    breaks: 'G05',
    file: 'packages/channels/src/commands/permission.ts',
    text: "if (command.who === 'approver' && !isApprover) return 'approver-only';",
    by: '',
    scenes: ['approvals-embedded', 'approvals-shared'],
    within: 10,
  },
  {
    name: 'an owner in a group is treated as in a direct chat',
    breaks: 'W02',
    file: 'packages/workspace/src/audience.ts',
    text: "const isOwner = chatType === 'direct' && !deliversElsewhere && owners.includes(user.id);",
    by: "const isOwner = (chatType === 'direct' || chatType === 'group') && !deliversElsewhere && owners.includes(user.id);",
    scenes: ['strangers-embedded', 'strangers-shared'],
    within: 5,
  },
  {
    name: "everyone can read the owner's files",
    breaks: 'W03',
    file: 'packages/workspace/src/workspace-view.ts',
    text: 'if (!mayRead(reader, file.audience)) return PRIVATE;',
    by: '',
    scenes: ['strangers-embedded', 'strangers-shared'],
    within: 5,
  },
  {
    name: 'the last check before the model call does not verify the reader',
    breaks: 'W02',
    file: 'packages/agent/src/loop/model-request.ts',
    text: 'return allowed;',
    by: 'return parts;',
    scenes: ['strangers-embedded', 'strangers-shared'],
    // Views and layers already withhold text meant for others; only a second fault would let some
    // reach this check.
    within: null,
  },
  {
    name: 'a one-off job stays due',
    breaks: 'H08',
    file: 'packages/store/src/cron-jobs.ts',
    text: 'set conversation_id = :conversationId, next_at = :nextAt, state = :state,',
    by: "set conversation_id = :conversationId, next_at = coalesce(:nextAt, next_at), state = case :state when 'over' then 'on' else :state end,",
    scenes: ['proactive-embedded', 'proactive-shared'],
    within: 10,
  },
  {
    name: 'a job restarts after a run that succeeded',
    breaks: 'H08',
    file: 'packages/proactive/src/cron/run-jobs.ts',
    text: "if (outcome !== 'failed') return",
    by: "if (outcome === 'stopped') return",
    scenes: ['proactive-embedded', 'proactive-shared'],
    within: 10,
  },
  {
    name: 'a heartbeat stays due after its run has started',
    breaks: 'H02',
    file: 'packages/store/src/heartbeat-runs.ts',
    text: 'update heartbeat set next_at = :nextAt, last_at',
    by: 'update heartbeat set next_at = min(:nextAt, :dueAt), last_at',
    scenes: ['proactive-embedded', 'proactive-shared'],
    within: 10,
  },
  {
    name: 'retention removes messages of unfinished turns',
    breaks: 'D15',
    file: 'packages/store/src/tables/messages.ts',
    text: "needed: `state <> 'done' or ",
    by: 'needed: `',
    scenes: ['upkeep-embedded', 'upkeep-shared'],
    within: 10,
  },
  {
    name: 'retention removes recent rows',
    breaks: 'D15',
    file: 'packages/store/src/retention-rules.ts',
    text: 'Math.max(0, now - age);',
    by: 'Math.max(0, now - age / 4);',
    scenes: ['upkeep-embedded', 'upkeep-shared'],
    within: 5,
  },
  {
    name: 'changed settings end the turns in progress',
    breaks: 'D12',
    file: 'apps/parley/src/reloadable-runtime.ts',
    text: '.stop(2 * limits.turnMinutes * 60_000)',
    by: '.stop(0 * limits.turnMinutes)',
    scenes: ['upkeep-embedded', 'upkeep-shared'],
    within: 10,
  },
];
