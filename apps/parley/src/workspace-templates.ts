import { configPath } from '@parley/contracts/installation';

/** The folder of the files a new workspace starts with. */
export const WORKSPACE_TEMPLATES = configPath('workspace');
