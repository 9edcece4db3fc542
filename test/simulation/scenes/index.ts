import type { Scene } from '../scene.ts';
import { disk, olderCopy, quiet, server } from './disk.ts';
import { embedded, shared } from './talk.ts';
import { upgrade } from './upgrade.ts';

/** All scenes, in the order in which a run takes them in turns. */
export const SCENES: readonly Scene[] = [embedded, shared, disk, olderCopy, server, quiet, upgrade];
