import type { Migration } from './migration.ts';

/** Runs of sub-agents (G07). Their lanes, turns and journals are rows like everybody's. */
export const SUB_AGENTS: Migration = {
  number: 15,
  name: 'sub-agents',
  statements: () => [
    `create table sub_agent (
      id text not null primary key,
      call_id text not null unique,
      conversation_id text not null unique references conversation (id),
      parent_conversation text not null references conversation (id),
      root_conversation text not null references conversation (id),
      parent_turn text not null references turn (id),
      depth bigint not null,
      title text not null,
      task text not null,
      reader text not null,
      origin text not null,
      route text not null,
      from_owner bigint not null,
      state text not null,
      result text,
      steps bigint not null default 0,
      input_tokens bigint not null default 0,
      output_tokens bigint not null default 0,
      cost_usd double precision default 0,
      started_at bigint not null,
      finished_at bigint
    )`,
    `create index sub_agent_running on sub_agent (root_conversation, depth) where state = 'running'`,
  ],
};
