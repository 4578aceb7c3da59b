package tape

import "nvpeak/advice/lang"

var english = lang.English().Say
