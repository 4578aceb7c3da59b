package redact

const clients = "mysql mysqldump mysqladmin mysqlimport mysqlsh mysqlcheck mariadb mariadb-dump mariadb-admin"

// curlFlags are the short options of curl that take no value.
const curlFlags = "#0123469BGIJLMNOSZafgijklnpqsv"

// takings are the ways in which programs take secrets.
var takings = []taking{
	{programs: "wandb swanlab ngrok vault comet", after: "login", apart: true},
	{programs: "wandb", after: "login", option: "--key", stuck: true, apart: true},
	{programs: "ngrok", after: "authtoken", apart: true},
	{programs: "ngrok", after: "add-authtoken", apart: true},
	{programs: "kaggle", after: "set", option: "-v", apart: true},
	{programs: "rclone", after: "obscure", apart: true},
	{programs: "mc mcli", after: "set", apart: true, words: 3},
	{programs: "htpasswd", option: "", apart: true, words: 3},
	{programs: "docker podman nerdctl buildah skopeo helm oras crane regctl az twine swanlab", after: "login", option: "-p", stuck: true, apart: true},
	{programs: "prefect swanlab", after: "login", option: "-k", apart: true},
	{programs: "twine", option: "-p", apart: true},
	{programs: clients, option: "-p", stuck: true},
	{programs: "sshpass", option: "-p", stuck: true, apart: true},
	{programs: "mongo mongosh mongodump mongorestore mongoexport mongoimport cypher-shell cqlsh ipmitool influx", option: "-p", apart: true},
	{programs: "ipmitool sqlcmd bcp unzip zip", option: "-P", stuck: true, apart: true},
	{programs: "7z 7za 7zr 7zz rar unrar", option: "-p", stuck: true},
	{programs: "redis-cli valkey-cli", option: "-a", apart: true},
	{programs: "ldapsearch ldapmodify ldapadd ldapwhoami", option: "-w", stuck: true, apart: true},
	{programs: "openssl", option: "-k", apart: true},
	{programs: "ssh-keygen", option: "-N", apart: true},
	{programs: "smbclient", option: "-U", stuck: true, apart: true, behind: "%"},
	{programs: "lftp", option: "-u", apart: true, behind: ","},
	{programs: "xfreerdp xfreerdp3", option: "/p:", stuck: true},
	{programs: "gh", after: "secret", option: "--body", stuck: true, apart: true},
	{programs: "http https xh xhs", option: "-a", apart: true, behind: ":"},
	{programs: "curl", option: "-u", stuck: true, apart: true, behind: ":", bundle: curlFlags},
	{programs: "curl", option: "--user", stuck: true, apart: true, behind: ":"},
	{programs: "curl", option: "-U", stuck: true, apart: true, behind: ":", bundle: curlFlags},
	{programs: "curl", option: "--proxy-user", stuck: true, apart: true, behind: ":"},
	{programs: "curl", option: "-b", stuck: true, apart: true, behind: "=", bundle: curlFlags},
}
