/** A handout: a page in one file, which contains the trace. There is no server. */

import { createApi } from "../core/wire/api.js";
import { openHandout } from "../handout/page.js";
import { fetchFromHandout } from "../share/share-in-handout.js";

void openHandout(createApi(fetchFromHandout("trace")));
