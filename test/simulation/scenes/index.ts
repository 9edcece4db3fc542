import type { Scene } from '../scene.ts';
import { approvalsEmbedded, approvalsShared } from './approvals.ts';
import { discordAlone, discordShared } from './discord.ts';
import { disk, olderCopy, quiet, server } from './disk.ts';
import { gateways } from './gateways.ts';
import { groups } from './groups.ts';
import { limits, slow, uncertain } from './platforms.ts';
import { proactiveEmbedded, proactiveShared } from './proactive.ts';
import { strangersEmbedded, strangersShared } from './strangers.ts';
import { embedded, shared } from './talk.ts';
import { toolsEmbedded, toolsShared } from './tools.ts';
import { upgrade } from './upgrade.ts';
import { upkeepEmbedded, upkeepShared } from './upkeep.ts';

/** All scenes, in the order in which a run takes them in turns. */
export const SCENES: readonly Scene[] = [
  embedded,
  shared,
  uncertain,
  limits,
  groups,
  gateways,
  slow,
  discordAlone,
  discordShared,
  toolsEmbedded,
  toolsShared,
  approvalsEmbedded,
  approvalsShared,
  disk,
  olderCopy,
  quiet,
  server,
  upgrade,
  strangersEmbedded,
  strangersShared,
  proactiveEmbedded,
  proactiveShared,
  upkeepEmbedded,
  upkeepShared,
];
