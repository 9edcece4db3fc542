import type { NewsChecker, ReplyRoute, Runtime } from '@parley/core';
import type { HeartbeatPlan, Store } from '@parley/store';
import type { WorkspaceView } from '@parley/workspace';
import type { FindAlertTarget } from '../alerts.ts';
import type { TaskOutlook, TaskSelectionInput } from './run.ts';
import type { OwnerZone, SettingsZone } from './time-zone.ts';

/** The services of a heartbeat. */
export interface HeartbeatServices extends Pick<Runtime, 'clock' | 'log'> {
  readonly store: Pick<Store, 'heartbeats' | 'inbox'>;
  /** `name` is the prefix for the agent's conversation ids; absent for the default agent. */
  readonly agent: SettingsZone & {
    readonly id: string;
    readonly name?: string | undefined;
  };
  /** The owner’s view of the workspace. */
  readonly view: WorkspaceView;
  readonly settings: {
    readonly enabled: boolean;
    readonly everyMinutes: number;
    readonly tokensPerDay: number;
    /** The value `off`, or hours such as `22:00-07:00`. */
    readonly quietHours: string;
  };
  readonly findTarget: FindAlertTarget;
  /** Runs the checks of tasks. If it is absent, every task calls the model. */
  readonly checkForNews?: NewsChecker;
  /** Writes to the owner's direct chat, at most once per key. */
  readonly notify?: (key: string, text: string) => Promise<void>;
  readonly wake: (lane: string) => Promise<void>;
  readonly deliver: (route: ReplyRoute) => Promise<void>;
  /** False if Parley is not running, so that heartbeats do not take place. */
  readonly isRunning?: boolean;
}

/** The tasks, with past and future runs. */
export interface HeartbeatStatus extends Omit<TasksWithState, 'tasks' | 'at'> {
  readonly plan: HeartbeatPlan | null;
  readonly tasks: readonly TaskOutlook[];
  readonly tokensToday: number;
}

/** The current content of HEARTBEAT.md and heartbeat-state.json. */
export interface TasksWithState extends TaskSelectionInput {
  readonly problems: readonly string[];
  readonly context: string | undefined;
  readonly zone: OwnerZone;
}
