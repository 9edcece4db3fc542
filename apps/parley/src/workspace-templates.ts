import { fileURLToPath } from 'node:url';

/** The folder of the files a new workspace starts with. */
export const WORKSPACE_TEMPLATES = fileURLToPath(
  new URL('../../../config/workspace', import.meta.url),
);
