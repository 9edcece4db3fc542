import type { ReplayServices } from '@parley/agent/replay';
import type { Clock, Logger, Monotonic } from '@parley/core';
import type { Store } from '@parley/store';
import type { DataFolder } from '../../data-folder.ts';
import type { LoadedSettings } from '../../settings.ts';

/** What a replay changes, and how far it goes. */
export interface ReplayChoice {
  /** Another model, as `provider/model` or by its name alone. */
  readonly model?: string | undefined;
  readonly profile?: string | undefined;
  /** New texts of workspace files, by name. */
  readonly files?: Readonly<Record<string, string>> | undefined;
  /** Whether tools that only read may answer calls that the record does not know. */
  readonly liveReads?: boolean | undefined;
  /** Only builds the request; no model is asked. */
  readonly dryRun?: boolean | undefined;
}

export interface ReplayDeps {
  /** The tables that are read, and the one in which the model's answers are charged. */
  readonly store: ReplayServices['store'] & Pick<Store, 'spend' | 'souls'>;
  readonly loaded: LoadedSettings;
  readonly folder: DataFolder;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly log: Logger;
}

/** The options of `parley replay`. */
export interface ReplayFlags
  extends Pick<ReplayChoice, 'model' | 'profile' | 'liveReads' | 'dryRun'> {
  /** `SOUL.md=new.md`, once for each file. */
  readonly file?: readonly string[];
  /** The folder of another version of Parley. */
  readonly release?: string;
  readonly limit: number;
  readonly seconds: number;
  readonly json?: boolean;
}
