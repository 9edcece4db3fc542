import type { Migration } from './migration.ts';

/**
 * Each turn counts which memories were of use and asks which were; neither reads all of them. Nor does
 * `/new` read all sub-agents there ever were.
 */
export const MEMORY_USES: Migration = {
  number: 21,
  name: 'uses of memories',
  statements: () => [
    'create index memory_entry_id on memory_entry (id)',
    'create index memory_entry_used on memory_entry (id, uses) where uses > 0',
    'create index sub_agent_root on sub_agent (root_conversation)',
  ],
};
